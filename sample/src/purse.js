import { formatMoney } from "./format.js";
import { total } from "./total.js";

const coins = process.argv.slice(2).map(Number);

console.log(`In the purse: ${formatMoney(total(coins))}`);
