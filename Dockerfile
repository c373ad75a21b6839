# Gateway, worker and every other `fleet` command in one image: docker build -t solution-fleet .
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY assets ./assets
COPY src ./src
RUN node scripts/build.mjs && npm prune --omit=dev --ignore-scripts

FROM node:20-bookworm-slim
# python3 judges exactly whether a corrected script still parses; it runs nothing of the script. python3-minimal would not do:
# it has no json module.
# tini is process 1: it passes signals on, also while node still starts, and reaps what node leaves behind.
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 tini \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production
COPY package.json LICENSE ./
COPY assets ./assets
COPY prompts ./prompts
COPY examples ./examples
COPY deploy/health.mjs ./deploy/health.mjs
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# By number, so that Kubernetes can tell that it is not root. All files are root's: the process changes none of them,
# and the root file system may be mounted read-only.
USER 1000:1000
EXPOSE 8080
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["node", "deploy/health.mjs"]
ENTRYPOINT ["tini", "--", "node", "dist/cli/main.js"]
CMD ["worker"]
