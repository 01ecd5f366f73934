# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: server
# packages: apache2-bin curl
mkdir -p html
seq 30000 >html/page
cat >httpd.conf <<END
ServerName localhost
ServerRoot $PWD
Listen 8082
PidFile $PWD/pid
ErrorLog $PWD/error
LoadModule mpm_prefork_module /usr/lib/apache2/modules/mod_mpm_prefork.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
LoadModule deflate_module /usr/lib/apache2/modules/mod_deflate.so
LoadModule filter_module /usr/lib/apache2/modules/mod_filter.so
DocumentRoot $PWD/html
StartServers 1
SetOutputFilter DEFLATE
END
run sh -c 'apache2 -X -f $PWD/httpd.conf & until curl -s localhost:8082/page >one; do sleep 0.1; done
for i in $(seq 5); do curl -s -H "Accept-Encoding: gzip" localhost:8082/page | cksum; done; kill $!; wait'
