// Uses a module from a folder that comes with it.
const { toRoman } = require("./lib/roman.js");

for (const year of process.env.YEARS.split(",")) {
  console.log(`${year} ${toRoman(Number(year))}`);
}
