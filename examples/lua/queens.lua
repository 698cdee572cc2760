-- Counts the ways to put n queens on a board of n times n.
local function solutions(n, row, columns, rising, falling)
  if row > n then return 1 end
  local count = 0
  for column = 1, n do
    local up, down = row + column, row - column
    if not (columns[column] or rising[up] or falling[down]) then
      columns[column], rising[up], falling[down] = true, true, true
      count = count + solutions(n, row + 1, columns, rising, falling)
      columns[column], rising[up], falling[down] = nil, nil, nil
    end
  end
  return count
end

for n = 4, 7 do
  print(n, solutions(n, 1, {}, {}, {}))
end
