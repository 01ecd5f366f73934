# SPDX-License-Identifier: MIT
# SPDX-FileCopyrightText: 2026 The sfjit authors
# shellcheck shell=sh disable=SC2154
# image: desktop
# packages: firefox-esr
cat >page.html <<'END'
<!DOCTYPE html><body><script>
let rows = []; for (let i = 0; i < 3000; i++) rows.push(i * 7919 % 3001);
rows.sort((a, b) => a - b);
for (let i = 0; i < 200; i++) { let p = document.createElement("p"); p.textContent = rows[i] + " text"; document.body.append(p); }
</script>
END
export HOME=$PWD
# shellcheck disable=SC2016
run sh -c 'timeout 600 firefox-esr --headless --no-remote --screenshot $PWD/shot.png "file://$PWD/page.html" >log 2>&1; test -s shot.png && echo shot'
