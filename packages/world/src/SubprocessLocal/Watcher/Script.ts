/**
 * What the watcher runs: POSIX shell, so that nothing has to be built or installed for it.
 *
 * $1 is what all our processes have in their environment. Lines on descriptor 3 say which process groups there are; when they end it
 * kills. With `grep` it is faster and finds descendants (elsewhere than on Linux with `ps`); all else it does by itself.
 */
export const script = `# Waits for the end of a dsh, to kill what it left behind.
trap '' HUP INT QUIT TERM

# In a child of init: nobody who ends the harness together with its descendants may take this for one of them.
(
mark=$1
known=' '
ours=' '

forget() {
  case $known in *" $1 "*) known="\${known%% $1 *} \${known#* $1 }" ;; esac
}

marked() {
  if [ "$greppable" = yes ]; then
    grep -lsF "$mark" /proc/[0-9]*/environ
  else
    for file in /proc/[0-9]*/environ; do
      while IFS= read -r line || [ -n "$line" ]; do
        case $line in *"$mark"*) echo "$file"; break ;; esac
      done <"$file"
    done
  fi | while IFS=/ read -r root proc pid rest; do echo "$pid"; done
}

parents() {
  if [ -r /proc/self/status ]; then
    grep -hs -e '^Pid:' -e '^PPid:' /proc/[0-9]*/status |
      while read -r name pid && read -r name parent; do echo "$pid:$parent"; done
  else
    ps -A -o pid= -o ppid= | while read -r pid parent; do echo "$pid:$parent"; done
  fi
}

descend() {
  table=$(parents)
  before=
  while [ "$ours" != "$before" ]; do
    before=$ours
    for entry in $table; do
      case $ours in *" \${entry%:*} "*) continue ;; esac
      case $ours in *" \${entry#*:} "*) ours="$ours\${entry%:*} " ;; esac
    done
  done
}

while read -r event pid; do
  case $event in
    started) known="$known$pid " ;;
    orphaned) forget "$pid"; known="$known-$pid " ;;
    gone) forget "$pid"; forget "-$pid" ;;
  esac
done

# There are greps that look no further than the first zero byte.
greppable=no
printf '\\0%s' "$mark" | grep -qF "$mark" && greppable=yes

for entry in $known; do
  pid=\${entry#-}
  # While a group lives nobody else gets its number. A leader that was reaped and is here again leads another group.
  [ "$pid" != "$entry" ] && kill -0 "$pid" && continue
  ours="$ours$pid "
done

# One look may miss a process in the middle of its exec; two in a row do not. What not even SIGKILL ends is left.
looks=0
calm=0
while [ "$calm" -lt 2 ] && [ "$looks" -lt 100 ]; do
  looks=$((looks + 1))
  for pid in $(marked); do ours="$ours$pid "; done
  if [ "$ours" = ' ' ]; then
    calm=$((calm + 1))
    continue
  fi
  calm=0
  descend
  for pid in $ours; do kill -9 "-$pid" "$pid"; done
  ours=' '
done
) <&3 3<&- >/dev/null 2>&1 &
`
