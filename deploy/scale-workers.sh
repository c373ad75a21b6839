#!/bin/sh
# Scales the workers of docker-compose.yml by the metric that Kubernetes would scale them by (docs/containers.md): one worker
# for every FLEET_CONCURRENCY waiting, due and active jobs of the fullest kind. More at once; fewer only after ten minutes
# in which fewer were enough, because a worker that goes waits for its running calls first.
#
#   FLEET_TOKEN=… deploy/scale-workers.sh [LEAST [MOST]]     (a token of the role read; 1 and 8 workers)
#
# It runs until it is stopped. With ONCE=1 it does one step, down as well as up.
set -u
least=${1:-1}
most=${2:-8}
gateway=${FLEET_GATEWAY_URL:-http://127.0.0.1:${FLEET_GATEWAY_PORT:-8080}}
compose=${COMPOSE_COMMAND:-docker compose}
LOOK_SECONDS=15
LOOKS_BEFORE_FEWER=40

# Empty if the gateway does not answer: the workers then stay as they are.
load() {
  curl --silent --fail --max-time 10 --header "authorization: Bearer $FLEET_TOKEN" "$gateway/metrics" |
    awk '/^fleet_queue_load\{/ { if ($2 + 0 >= most) most = $2 + 0; seen = 1 } END { if (seen) print most }'
}

fewer=0
while :; do
  jobs=$(load)
  running=$($compose ps --quiet worker | wc -l)
  if [ -n "$jobs" ]; then
    each=${FLEET_CONCURRENCY:-10}
    wanted=$(((jobs + each - 1) / each))
    [ "$wanted" -ge "$least" ] || wanted=$least
    [ "$wanted" -le "$most" ] || wanted=$most
    if [ "$wanted" -lt "$running" ]; then fewer=$((fewer + 1)); else fewer=0; fi
    if [ "$wanted" -gt "$running" ] || [ "$fewer" -ge "$LOOKS_BEFORE_FEWER" ] || [ "${ONCE:-}" = 1 ]; then
      if [ "$wanted" -ne "$running" ]; then
        echo "$jobs jobs: $running -> $wanted workers"
        # Without --no-recreate, a shell that lacks a setting would replace all workers.
        $compose up -d --no-recreate --no-deps --scale "worker=$wanted" worker
      fi
      fewer=0
    fi
  fi
  [ "${ONCE:-}" != 1 ] || exit 0
  sleep "$LOOK_SECONDS"
done
