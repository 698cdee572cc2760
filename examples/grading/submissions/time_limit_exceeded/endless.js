// Wrong: never gets to the end of an empty list.
const [n, ...numbers] = require("fs").readFileSync(0, "utf8").split(/\s+/).filter(Boolean).map(Number);
let sum = 0;
let i = 0;
do sum += numbers[i++] ?? 0; while (i !== n);
console.log(sum);
