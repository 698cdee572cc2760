#!/usr/bin/env bash
# Adds up the numbers of standard input.
total=0
while read -r number; do
  ((total += number))
done
echo "total $total"
