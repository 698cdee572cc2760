# Counts the status codes of a web server's log.
use strict;
use warnings;

my %seen;
while (my $line = <STDIN>) {
    $seen{$1}++ if $line =~ /" (\d{3}) /;
}
print "$_ $seen{$_}\n" for sort keys %seen;
