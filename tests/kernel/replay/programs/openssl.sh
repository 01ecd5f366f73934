# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh

openssl speed -seconds 1 rsa2048 ecdsap256 ed25519 sha256
openssl speed -seconds 1 -evp aes-256-gcm
openssl genrsa 2048 >key
openssl req -x509 -new -key key -subj /CN=frame -out cert
for _ in 1 2 3 4 5 6 7 8; do openssl x509 -in cert -text -noout; done
