class Receipt:
    def __init__(self, text):
        _, *self.amounts = map(int, text.split())

    def total(self):
        return sum(self.amounts)
