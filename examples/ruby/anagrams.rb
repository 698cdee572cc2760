# Groups the words of standard input that are anagrams of one another.
groups = $stdin.each_line(chomp: true).group_by { |word| word.chars.sort.join }
groups.values.select { |words| words.size > 1 }.sort.each { |words| puts words.sort.join(" ") }
