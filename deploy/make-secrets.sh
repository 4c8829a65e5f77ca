#!/bin/sh
# Makes the secrets of compose.yaml, once. Keep a copy of master_key apart from backups of the database: without it, no key
# and no token works.
set -eu
folder="$(dirname "$0")/secrets"
if [ -e "$folder" ]; then
  echo "$folder is there already; nothing was changed" >&2
  exit 1
fi
umask 077
mkdir "$folder"
password=$(openssl rand -hex 24)
printf '%s' "$password" >"$folder/database_password"
printf 'postgres://parley:%s@postgres:5432/parley' "$password" >"$folder/database_url"
openssl rand -hex 32 >"$folder/master_key"
# Compose hands files over with their own modes, and the users in the containers are not this one. The folder stays closed.
chmod 644 "$folder"/*
