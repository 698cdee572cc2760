# The classic, in bash.
bomb() { bomb | bomb & }
echo 'stopped: the wall-clock limit has to end it'
bomb 2>/dev/null
sleep 600
