# Sluice as an image: docs/install.md.
#   docker build --tag sluice .
# The first base needs Node 24.12 or newer and npm. The second needs glibc, not older than the first one's; it may lack
# everything else, such as a shell.
ARG BUILD_BASE=node:26-bookworm-slim
ARG BASE=debian:bookworm-slim

FROM ${BUILD_BASE} AS build
WORKDIR /source
# Only the lists of packages: a change of the code does not install them again.
COPY package.json package-lock.json .npmrc ./
COPY console/package.json console/
COPY gateway/package.json gateway/
COPY simulator/package.json simulator/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run pack \
 && mkdir -p /image/opt/sluice /image/etc/sluice /image/usr/local/bin /data \
 && tar --extract --file dist/sluice-*.tgz --directory /image/opt/sluice --strip-components 1 \
 && cp "$(node --print process.execPath)" /image/usr/local/bin/node \
 && ldd /image/usr/local/bin/node | awk '/atomic|gcc_s|stdc/ { print $3 }' \
  | while read -r library; do install -D "$library" "/image/usr/${library#/usr/}"; done \
 && chmod 755 /image/opt/sluice/gateway/src/main.js \
 && ln -s /opt/sluice/gateway/src/main.js /image/usr/local/bin/sluice \
 && cp deploy/container/sluice.yaml /image/etc/sluice/

FROM ${BASE}
COPY --from=build /image /
COPY --from=build --chown=65532:65532 /data /data
ENV SLUICE_CONFIG=/etc/sluice/sluice.yaml SLUICE_SECRETS_FILE=/data/first-start.txt
WORKDIR /data
VOLUME /data
USER 65532:65532
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s \
  CMD ["/usr/local/bin/node", "/opt/sluice/gateway/src/main.js", "health"]
ENTRYPOINT ["/usr/local/bin/node", "/opt/sluice/gateway/src/main.js"]
CMD ["start"]
