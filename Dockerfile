# A worker (or any other `fleet` command) in a container: docker build -t solution-fleet .
FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY scripts ./scripts
COPY src ./src
RUN node scripts/build.mjs

FROM node:20-bookworm-slim
# python3 judges exactly whether a corrected script still parses; it runs nothing of the script.
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3-minimal \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /app
ENV NODE_ENV=production
COPY package.json package-lock.json .npmrc LICENSE ./
RUN npm ci --ignore-scripts --omit=dev && npm cache clean --force
COPY assets ./assets
COPY prompts ./prompts
COPY examples ./examples
COPY --from=build /app/dist ./dist
USER node
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["worker"]
