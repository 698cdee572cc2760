// Tells for each line of standard input whether its brackets are balanced.
use std::io::{self, BufRead};

fn balanced(line: &str) -> bool {
    let mut open = Vec::new();
    for c in line.chars() {
        match c {
            '(' => open.push(')'),
            '[' => open.push(']'),
            ')' | ']' if open.pop() != Some(c) => return false,
            _ => {}
        }
    }
    open.is_empty()
}

fn main() {
    for line in io::stdin().lock().lines() {
        let line = line.expect("standard input is text");
        println!("{} {}", if balanced(&line) { "yes" } else { "no " }, line);
    }
}
