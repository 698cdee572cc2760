const [n, ...numbers] = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean).map(Number);
console.log(numbers.slice(0, n).reduce((a, b) => a + b, 0));
