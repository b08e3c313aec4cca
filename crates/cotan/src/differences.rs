//! Central differences with extrapolation.
//!
//! In: a function of a step. Out: its slope at 0 and an estimate of the error. Newly true: the estimate is small only where
//! steps of several sizes agree, so that a kink or noise shows itself.

/// A slope and how far it may be off.
#[derive(Clone, Debug, PartialEq)]
pub struct Slope {
    /// One per component of the function.
    pub values: Vec<f64>,
    /// Estimated absolute errors.
    pub errors: Vec<f64>,
}

/// Steps shrink by this factor.
const SHRINK: f64 = 1.6;
/// Rows of the table.
const ROWS: usize = 10;

/// The slope at 0 of `f`, by central differences over shrinking steps, extrapolated to step 0 (Richardson, Ridders).
/// `scale` is the largest step.
pub fn slope<E>(scale: f64, mut f: impl FnMut(f64) -> Result<Vec<f64>, E>) -> Result<Slope, E> {
    let mut step = scale;
    let mut table: Vec<Vec<Vec<f64>>> = Vec::new();
    let mut best: Option<Slope> = None;
    for row in 0..ROWS {
        let (plus, minus) = (f(step)?, f(-step)?);
        let first: Vec<f64> = plus.iter().zip(&minus).map(|(p, m)| (p - m) / (2.0 * step)).collect();
        let best =
            best.get_or_insert_with(|| Slope { values: first.clone(), errors: vec![f64::INFINITY; first.len()] });
        let mut columns = vec![first];
        let mut factor = SHRINK * SHRINK;
        for column in 1..=row {
            let (coarse, fine) = (&table[row - 1][column - 1], &columns[column - 1]);
            let next: Vec<f64> = fine.iter().zip(coarse).map(|(x, y)| (factor * x - y) / (factor - 1.0)).collect();
            for (i, value) in next.iter().enumerate() {
                let error = (value - fine[i]).abs().max((value - coarse[i]).abs());
                if error < best.errors[i] {
                    best.errors[i] = error;
                    best.values[i] = *value;
                }
            }
            factor *= SHRINK * SHRINK;
            columns.push(next);
        }
        table.push(columns);
        step /= SHRINK;
    }
    Ok(best.unwrap_or(Slope { values: Vec::new(), errors: Vec::new() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(f: impl Fn(f64) -> f64) -> (f64, f64) {
        let slope = slope::<()>(0.1, |h| Ok(vec![f(h)])).unwrap();
        (slope.values[0], slope.errors[0])
    }

    #[test]
    fn smooth_functions_are_precise() {
        let (value, error) = of(|h| (1.0 + h).exp());
        assert!((value - 1f64.exp()).abs() < 1e-10 && error < 1e-9, "{value} {error}");
        let (value, _) = of(|h| (2.0 + h).powi(3));
        assert!((value - 12.0).abs() < 1e-9);
    }

    #[test]
    fn infinite_slopes_show() {
        let (_, error) = of(|h| h.signum() * h.abs().sqrt());
        assert!(error > 1e-3, "{error}");
    }
}
