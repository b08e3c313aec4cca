//! temporary
fn main() {
    std::thread::Builder::new()
        .stack_size(4 << 30)
        .spawn(|| {
            for f in std::env::args().skip(1) {
                let t = std::time::Instant::now();
                let mut s = cotan::Session::new(cotan::Options::default(), Box::new(cotan::Silent));
                match s.check_file(std::path::Path::new(&f)) {
                    Ok(c) => {
                        println!("OK {f} {:?} warnings {}", t.elapsed(), c.warnings.len());
                        for d in c.warnings {
                            println!("{}", cotan::render(&s.sources, &d, false));
                        }
                    }
                    Err(cotan::Failure::User(ds)) => {
                        println!("ERR {f}");
                        for d in ds.iter().take(5) {
                            println!("{}", cotan::render(&s.sources, d, false));
                        }
                    }
                    Err(cotan::Failure::Bug(b)) => println!("BUG {f} {} {}", b.pass, b.message),
                }
            }
        })
        .unwrap()
        .join()
        .unwrap();
}
