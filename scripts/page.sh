#!/usr/bin/env bash
# page.sh: builds the page into web_frontend/dist, with Node set up if need be.
source "$(dirname "$0")/env.sh"
scripts/setup.sh page
source scripts/env.sh
npm run --silent --prefix web_frontend build >&2
