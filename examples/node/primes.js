// Prints the primes up to its argument.
const limit = Number(process.argv[2] ?? 30);
const composite = new Uint8Array(limit + 1);
const primes = [];
for (let n = 2; n <= limit; n++) {
  if (composite[n]) continue;
  primes.push(n);
  for (let m = n * n; m <= limit; m += n) composite[m] = 1;
}
console.log(primes.join(" "));
