#!/bin/bash
read -r n
read -r -a numbers
sum=0
for ((i = 0; i < n; i++)); do ((sum += numbers[i])); done
echo "$sum"
