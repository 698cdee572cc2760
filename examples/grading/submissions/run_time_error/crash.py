# Wrong: takes it for granted that there is a first number.
n, *numbers = map(int, open(0).read().split())
total = numbers[0]
for number in numbers[1:n]:
    total += number
print(total)
