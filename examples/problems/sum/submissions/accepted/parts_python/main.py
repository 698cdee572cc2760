from receipt import Receipt

print(Receipt(open(0).read()).total())
