#!/bin/sh
# Renews the two fonts of this folder: Noto Sans SC (SIL Open Font License 1.1,
# OFL.txt), cut down to what charts and the window can show: Latin, arrows,
# mathematical signs, box drawing, CJK punctuation, full-width forms and the
# 3,755 Chinese characters of level 1 of GB 2312 (rows 16 to 55).
#
# Needs npm, python3 and Debian's python3-fonttools (made with 4.38.0).
set -e
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm pack --silent @expo-google-fonts/noto-sans-sc@0.4.3
tar xf ./*.tgz
/usr/bin/python3 - >han.txt <<'PY'
for row in range(0xB0, 0xD8):
    for cell in range(0xA1, 0xFF):
        try:
            print(bytes([row, cell]).decode('gb2312'), end='')
        except UnicodeDecodeError:
            pass
PY
for weight in 400Regular 700Bold; do
	/usr/bin/python3 -m fontTools.subset "package/$weight/NotoSansSC_$weight.ttf" --text-file=han.txt \
		--unicodes='U+0020-007E,U+00A0-00FF,U+03BC,U+2010-2027,U+2030-203A,U+2190-21FF,U+2200-22FF,U+2500-25FF,U+2713,U+3000-303F,U+FF01-FF5E' \
		--layout-features='' --no-hinting --drop-tables+=GSUB,GPOS,vhea,vmtx,BASE,STAT \
		--name-IDs='0,1,2,4,5,13,14' --output-file="$here/NotoSansSC-${weight#?00}.ttf"
done
cp package/LICENSE_FONT "$here/OFL.txt"
