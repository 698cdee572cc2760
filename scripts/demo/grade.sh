# shellcheck shell=bash
# Grades every submission of examples/grading on every case: all jobs are enqueued at once,
# the workers take them as slots come free, and the outputs are compared here. What counts is
# CPU time, so that a busy machine changes no verdict.
: "${enqueue:?}" "${work:?}" # set by demo.sh

cases=grading/cases
declare -A verdict_of

grade_all() {
	local began=$EPOCHREALTIME number name want got line same
	local -a submissions=(grading/submissions/*) jobs=()
	for number in 1 2 3 4; do
		"$enqueue" submit --queue batch -t 20 --cpu-time 1.5 --stdin "$cases/$number.in" "${submissions[@]}" >"$work/ids.$number"
		mapfile -t -O "${#jobs[@]}" jobs <"$work/ids.$number"
	done
	printf '\nGrading %d submissions on 4 cases: %d jobs enqueued in %s s\n' "${#submissions[@]}" "${#jobs[@]}" "$(since "$began")"
	"$enqueue" wait "${jobs[@]}" >"$work/ended" || true # it tells by its exit code that not all were ok
	for number in 1 2 3 4; do
		grade_case "$number"
	done
	printf '  %-12s %-22s %-22s %s\n' SUBMISSION EXPECTED GOT "AS WANTED"
	while read -r name line; do
		got=
		for number in 1 2 3 4; do got+="${verdict_of[$name.$number]:-none} "; done
		want=$(xargs <<<"$line") got=$(xargs <<<"$got") same=no
		[[ $want != "$got" ]] || same=yes
		printf '  %-12s %-22s %-22s %s\n' "$name" "$want" "$got" "$same"
		count "$same"
	done <grading/verdicts
	printf '  %d jobs ended in %s s\n' "$(wc -l <"$work/ended")" "$(since "$began")"
}

# grade_case NUMBER gives each submission its verdict on one case.
grade_case() {
	local number=$1 id outcome index=0
	local -a submissions=(grading/submissions/*)
	while read -r id; do
		outcome=$(awk -v id="$id" '$1 == id { print $2 }' "$work/ended")
		"$enqueue" result "$id" >"$work/stdout" 2>"$work/stderr" || true
		verdict_of[${submissions[index]##*/}.$number]=$(verdict_for "$outcome" "$cases/$number.out")
		index=$((index + 1))
	done <"$work/ids.$number"
}

# verdict_for OUTCOME ANSWER is the usual word for a result.
verdict_for() {
	case $1 in
	ok) if cmp -s "$work/stdout" "$2"; then echo AC; else echo WA; fi ;;
	wall_timeout | cpu_timeout) echo TLE ;;
	out_of_memory) echo MLE ;;
	compile_error) echo CE ;;
	nonzero_exit | signaled) echo RE ;;
	*) echo "${1:-none}" ;;
	esac
}
