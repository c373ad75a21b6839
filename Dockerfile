# Gateway, worker and every other `fleet` command in one image: docker build -t solution-fleet .
FROM node:20-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts

# What a running fleet needs of them, without types, sources and source maps, and a list of them with their licenses. Only the
# lock file decides about this layer of the image. npm keeps the compiler, which is an optional peer of a package that runs.
FROM packages AS production
RUN npm prune --omit=dev --ignore-scripts \
    && rm -rf node_modules/typescript node_modules/@typescript node_modules/.bin \
    && npm sbom --package-lock-only --omit=dev --sbom-format=cyclonedx > sbom.cdx.json \
    && find node_modules -type f \( -name '*.map' -o -name '*.ts' -o -name '*.mts' -o -name '*.cts' \) -delete

FROM packages AS build
COPY tsconfig.json tsconfig.build.json ./
COPY scripts/build.mjs scripts/bundle.mjs ./scripts/
COPY scripts/setup ./scripts/setup
COPY assets ./assets
COPY src ./src
RUN node scripts/build.mjs && find dist -type f -name '*.d.ts' -delete

FROM node:20-bookworm-slim
LABEL org.opencontainers.image.title="solution-fleet" \
      org.opencontainers.image.description="Job-queue worker fleet for machine-learning-engineering agents" \
      org.opencontainers.image.version="0.1.0" \
      org.opencontainers.image.licenses="MIT" \
      org.opencontainers.image.base.name="docker.io/library/node:20-bookworm-slim"
# python3 judges exactly whether a corrected script still parses; it runs nothing of the script. python3-minimal would not do:
# it has no json module.
# redis-server is for `demo`, and for `check` and `refine` with a model: they run a temporary one. The fleet's own Redis is
# elsewhere.
# tini is process 1: it passes signals on, also while node still starts, and reaps what node leaves behind.
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 redis-server tini \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# What is stored in a container is gone with it: commands that keep jobs need FLEET_REDIS_URL.
ENV NODE_ENV=production \
    FLEET_EMBEDDED_REDIS=off \
    FLEET_HEALTH_FILE=/tmp/fleet-health
# From what changes least to what changes most.
COPY --from=production /app/node_modules ./node_modules
COPY --from=production /app/sbom.cdx.json ./
COPY package.json LICENSE ./
COPY deploy/health.sh ./deploy/health.sh
COPY assets ./assets
COPY prompts ./prompts
COPY examples ./examples
COPY --from=build /app/dist ./dist
# By number, so that Kubernetes can tell that it is not root. All files are root's: the process changes none of them,
# and the root file system may be mounted read-only.
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=3 CMD ["/app/deploy/health.sh"]
# Absolute, so that it works with any working directory: docker run -v "$PWD:/work" -w /work solution-fleet check script.py
ENTRYPOINT ["tini", "--", "node", "/app/dist/cli/main.js"]
CMD ["worker"]
