# shellcheck shell=bash
# Runs one program through the queue and shows it as a line of a table.
: "${enqueue:?}" "${work:?}" # set by demo.sh

title() {
	printf '\n%s\n' "$1"
	printf '  %-8s %-32s %-9s %7s  %-10s %s\n' LANGUAGE WHAT "EXIT CODE" TIME "AS WANTED" NOTE
}

# run LANGUAGE WHAT CODE EXPECTED ARGUMENT... compares exit code and standard output.
run() {
	local language=$1 what=$2 want=$3 expected=$4 code=0 began=$EPOCHREALTIME seconds same=no note
	shift 4
	"$enqueue" run "$@" >"$work/stdout" 2>"$work/stderr" || code=$?
	seconds=$(since "$began")
	if [[ $code -eq $want ]] && cmp -s "$work/stdout" "$expected"; then
		same=yes
	fi
	note=$(sed -n 's/^enqueue: //p' "$work/stderr" | tail -n 1)
	printf '  %-8s %-32s %9s %6ss  %-10s %s\n' "$language" "$what" "$code" "$seconds" "$same" "$note"
	count "$same"
	[[ $same == yes ]] || explain "$want" "$code" "$expected"
}

# compare_file WHAT FILE compares a file with standard input.
compare_file() {
	local same=no
	cmp -s - "$2" && same=yes
	printf '  %-8s %-32s %9s %7s  %-10s\n' "" "$1" "" "" "$same"
	count "$same"
}

count() {
	total=$((total + 1))
	[[ $1 != yes ]] || right=$((right + 1))
}

explain() {
	{
		echo "      wanted exit code $1 and got $2; standard output, wanted (-) and got (+):"
		diff -u "$3" "$work/stdout" | tail -n +3 | head -n 10 | cat -v | sed 's/^/      /'
		echo "      standard error:"
		head -n 10 "$work/stderr" | cat -v | sed 's/^/      /'
	} || true
}

# since prints the seconds that have passed since an $EPOCHREALTIME.
since() {
	local micros=$((${EPOCHREALTIME/[.,]/} - ${1/[.,]/}))
	printf '%d.%02d' $((micros / 1000000)) $((micros % 1000000 / 10000))
}

# verdict NAME says whether everything came back as it should, and ends with an error if not.
verdict() {
	printf '\n'
	if ((right == total)); then
		echo "$1: all $total results are right"
		return
	fi
	echo "$1: $((total - right)) of $total results are WRONG"
	exit 1
}
