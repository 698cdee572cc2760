<?php
$lines = [["bolt", 12, 0.25], ["nut", 30, 0.10], ["plate", 1, 7.5]];
$sum = 0;
foreach ($lines as [$name, $count, $price]) {
    printf("%-6s %3d x %5.2f = %5.2f\n", $name, $count, $price, $count * $price);
    $sum += $count * $price;
}
printf("%s %.2f\n", $argv[1] ?? "sum", $sum);
