#!/usr/bin/env bash
# page.sh: builds the page into web_frontend/dist unless it is there already, made of the same sources;
# Node is set up if need be.
source "$(dirname "$0")/env.sh"
scripts/setup.sh page
source scripts/env.sh
stamp=build/page.sum
sum=$(find web_frontend tb_backend/api/openapi.yaml docs -type f -not -path '*/node_modules/*' \
  -not -path 'web_frontend/dist/*' -not -path '*/coverage/*' -not -name schema.d.ts -print0 |
  sort -z | xargs -0 sha256sum | sha256sum)
if [ -f web_frontend/dist/index.html ] && [ "$(cat $stamp 2>/dev/null)" = "$sum" ]; then
  exit
fi
rm -f $stamp
npm run --silent --prefix web_frontend build >&2
printf '%s' "$sum" >$stamp
