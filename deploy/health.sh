#!/bin/bash
# The health of the container that this runs in: exit code 0 for healthy, 1 and a reason on standard error for unhealthy.
# A gateway is healthy when its own /healthz says so, any other command when it wrote no problem into FLEET_HEALTH_FILE
# lately. It starts no node: beside many workers on a busy machine that would cost more than all they do when idle.
set -u
STALE_SECONDS=30
ANSWER_SECONDS=8

unhealthy() {
  printf '%s\n' "$1" >&2
  exit 1
}

mapfile -d '' -t words < /proc/1/cmdline
while [ ${#words[@]} -gt 0 ] && [[ ${words[0]} != */cli/main.js ]]; do words=("${words[@]:1}"); done

ask_gateway() {
  local port=8080 status rest
  while [ $# -gt 0 ]; do
    case $1 in
      --port) port=${2:-} ;;
      --port=*) port=${1#--port=} ;;
    esac
    shift
  done
  exec 3<> "/dev/tcp/127.0.0.1/$port" || unhealthy "nobody listens on port $port"
  printf 'GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$port" >&3
  read -r -t "$ANSWER_SECONDS" _ status rest <&3 || unhealthy "/healthz does not answer"
  [ "$status" = 200 ] || unhealthy "/healthz answers $status: $(timeout "$ANSWER_SECONDS" tail -n 1 <&3)"
}

read_health_file() {
  local file=${FLEET_HEALTH_FILE:-} problem written
  [ -n "$file" ] || unhealthy "FLEET_HEALTH_FILE is not set"
  [ -f "$file" ] || unhealthy "it is not ready yet"
  written=$(stat --format=%Y "$file")
  [ $(($(date +%s) - written)) -le "$STALE_SECONDS" ] || unhealthy "its event loop is blocked, or it has ended"
  problem=$(< "$file")
  [ -z "$problem" ] || unhealthy "$problem"
}

if [ "${words[1]:-}" = serve ]; then ask_gateway "${words[@]:2}"; else read_health_file; fi
