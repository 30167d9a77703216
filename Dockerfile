# The image of Till: docker build -t till .   docs/deploy.md says how to run it.
# For both kinds of CPU: docker buildx build --platform linux/amd64,linux/arm64 -t till .

# Everything comes from this image, pinned by its digest; a newer one: docker buildx imagetools inspect node:24-bookworm-slim
ARG NODE_IMAGE=docker.io/library/node:24-bookworm-slim
ARG NODE_DIGEST=sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d

FROM ${NODE_IMAGE}@${NODE_DIGEST} AS build
WORKDIR /till
RUN apt-get update && apt-get install --yes --no-install-recommends binutils tini && rm -rf /var/lib/apt/lists/*
COPY package.json package-lock.json .npmrc ./
RUN npm ci --omit=dev --include=optional --no-audit --no-fund
COPY tsconfig.json vite.config.ts ./
COPY client/README.md client/README.md
COPY docs docs
COPY schema schema
COPY scripts scripts
COPY src src
COPY web web
# the Node that package-lock.json pins builds the pages and the programs, and runs the service
RUN node_modules/.bin/node node_modules/vite/bin/vite.js build --logLevel warn \
 && node_modules/.bin/node scripts/programs.mjs \
 && node_modules/.bin/node scripts/image-root.ts /image

# No shell but the one that PostgreSQL's initdb calls, no package manager, and no npm: only what the service runs on.
FROM scratch
COPY --from=build /image /
COPY --from=build --chown=10001:10001 --chmod=0700 /var/empty-data /data
# with these limits the C library gives freed memory back: about 20 MB, which else stay after each large buffer (docs/operation.md)
ENV PATH=/usr/local/bin:/usr/bin:/bin DATA_DIR=/data MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
# the image is read-only, and no other account is in it
ENV NODE_COMPILE_CACHE=/tmp/node-compile-cache
# every command of ours runs what was built: its packages are in there, and not in the image
ENV NODE_OPTIONS=--import=/till/scripts/use-built.mjs
WORKDIR /till
USER 10001:10001
VOLUME /data
EXPOSE 4000
HEALTHCHECK --interval=15s --timeout=5s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 4000}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# tini is process 1: it passes SIGTERM straight on to node, and reaps the processes that a killed PostgreSQL leaves behind
ENTRYPOINT ["tini", "--"]
CMD ["node", "src/main.ts"]
