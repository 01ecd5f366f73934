# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: server
# packages: nginx-light curl
mkdir -p html logs
seq 30000 >html/page
cat >nginx.conf <<END
user root; daemon off; worker_processes 1; error_log logs/error; pid nginx.pid;
events { }
http { access_log off; gzip on; gzip_types application/octet-stream text/plain; gzip_comp_level 6;
server { listen 8081; root html; } }
END
run sh -c 'nginx -p . -c nginx.conf & until curl -s localhost:8081/page >one; do sleep 0.1; done
for i in $(seq 5); do curl -s -H "Accept-Encoding: gzip" localhost:8081/page | cksum; done; kill $!; wait'
