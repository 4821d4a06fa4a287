/** Harmless options of the programs of a Unix system; how they are written is explained in `harmless-options.ts`. */
export const UNIX_OPTIONS: string = `
cat, gcat |
  -A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank --show-tabs
  --show-nonprinting
nl |
  -b: -d: -f: -h: -i: -l: -n: -p -s: -v: -w: --body-numbering: --section-delimiter: --footer-numbering:
  --header-numbering: --line-increment: --join-blank-lines: --number-format: --no-renumber --number-separator:
  --starting-line-number: --number-width:
bat, batcat |
  -n -p -P -A -f -u -r: -l: -H: -m: --line-range: --language: --highlight-line: --map-syntax: --style: --paging:
  --color: --decorations: --wrap: --theme: --tabs: --terminal-width: --file-name: --italic-text: --plain --number
  --show-all --force-colorization --unbuffered --no-paging
less |
  -N -R -S -F -X -E -e -n -i -I -M -m -s -K -r -f -g -G -d -c -l -u --LINE-NUMBERS --RAW-CONTROL-CHARS
  --chop-long-lines --quit-if-one-screen --no-init --quit-at-eof
more |
  -d -e -f -l -p -c -s -u -n: --silent --exit-on-eof --logical --no-pause --print-over --clean-print --squeeze
  --plain --lines:
wc |
  -c -m -l -L -w --bytes --chars --lines --max-line-length --words --total:
tac |
  -b -r -s: --before --regex --separator:
head, ghead, tail, gtail |
  -f -F --follow? --retry -n: -c: -q -v -z --lines: --bytes: --quiet --silent --verbose --zero-terminated
ls, gls, dir, vdir |
  -a -A -b -B -c -C -d -f -F -g -G -h -H -i -I: -k -l -L -m -n -N -o -O -p -q -Q -r -R -s -S -t -u -U -v -x -X -Z
  -1 -@ -e --all --almost-all --author --escape --block-size: --ignore-backups --color? --directory --dired
  --classify? --file-type --format: --full-time --group-directories-first --no-group --human-readable --si
  --dereference-command-line --hide: --hyperlink? --indicator-style: --inode --ignore: --kibibytes --dereference
  --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name --quoting-style: --reverse
  --recursive --size --sort: --time: --time-style: --width: --context --zero
tree |
  -a -d -l -f -x -p -s -h -u -g -D -q -N -Q -F -n -C -A -S -i -v -t -c -U -r -J -X -L: -P: -I: --gitignore
  --noreport --dirsfirst --filesfirst --prune --du --si --inodes --device --matchdirs --ignore-case --metafirst
  --info --filelimit: --charset: --timefmt: --sort? --gitfile: --infofile:
eza, exa, lsd |
  -1 -l -G -x -R -T -a -A -d -D -f -F? -r -s: -L: -I: -t: -h -H -i -g -b -B -m -u -U -S -@ -o -Z -O -M -n -X -w:
  --oneline --long --grid --across --recurse --tree --all --almost-all --list-dirs --only-dirs --only-files
  --classify? --reverse --sort: --level: --ignore-glob: --time: --header --inode --group --binary --bytes
  --modified --accessed --created --blocksize --extended --octal-permissions --git --git-ignore --git-repos
  --no-git --no-permissions --no-filesize --no-user --no-time --group-directories-first --group-directories-last
  --icons? --color? --colour? --hyperlink --time-style: --width: --numeric --links --total-size --depth: --blocks:
  --date: --icon: --classic
grep, egrep, fgrep, ggrep |
  -E -F -G -P -i -y -v -w -x -c -l -L -q -s -o -n -b -H -h -Z -z -a -I -r -R -U -T -u -e: -m: -A: -B: -C: -d: -D:
  --extended-regexp --fixed-strings --basic-regexp --perl-regexp --regexp: --ignore-case --no-ignore-case
  --word-regexp --line-regexp --null-data --no-messages --invert-match --max-count: --byte-offset --line-number
  --line-buffered --with-filename --no-filename --label: --only-matching --quiet --silent --binary-files: --text
  --directories: --devices: --recursive --dereference-recursive --include: --exclude: --exclude-from:
  --exclude-dir: --files-without-match --files-with-matches --count --initial-tab --null --before-context:
  --after-context: --context: --group-separator: --no-group-separator --color? --colour? --binary
rg |
  -i -s -S -c -l -H -I -F -L -. -n -N -U -o -P -p -a -w -x -z -b -v -0 -q -u -A: -B: -C: -E: -e: -g: -d: -m: -M:
  -j: -r: -t: -T: --ignore-case --case-sensitive --smart-case --after-context: --before-context: --context:
  --column --no-column --count --count-matches --include-zero --encoding: --no-encoding --engine:
  --files-with-matches --files-without-match --with-filename --no-filename --one-file-system --fixed-strings
  --no-fixed-strings --follow --no-follow --glob: --iglob: --glob-case-insensitive --heading --no-heading --hidden
  --no-hidden --auto-hybrid-regex --no-ignore --ignore --ignore-file-case-insensitive --no-ignore-exclude
  --no-ignore-global --no-ignore-parent --no-ignore-vcs --no-require-git --no-ignore-dot --no-ignore-files --json
  --no-json --line-number --no-line-number --crlf --null-data --max-columns-preview --max-depth: --maxdepth:
  --no-messages --messages --no-ignore-messages --mmap --no-mmap --multiline --multiline-dotall --only-matching
  --passthru --passthrough --pcre2 --pcre2-unicode --pretty --vimgrep --regexp: --replace: --sort: --sortr:
  --sort-files --stats --text --binary --no-binary --threads: --trim --no-trim --type: --type-add: --type-clear:
  --type-not: --word-regexp --line-regexp --no-unicode --search-zip --byte-offset --color: --colors:
  --context-separator: --no-context-separator --debug --trace --field-context-separator: --field-match-separator:
  --dfa-size-limit: --files --ignore-file: --invert-match --max-columns: --max-count: --max-filesize: --no-config
  --null --path-separator: --quiet --regex-size-limit: --unrestricted --line-buffered --block-buffered
  --stop-on-nonmatch
ag |
  -i -s -S -l -L -c -o -v -w -Q -F -a -t -u -U -z -r -R -n -f -0 -A? -B? -C? -G: -m: -p: -W: --ignore-case
  --case-sensitive --smart-case --files-with-matches --files-without-matches --count --only-matching
  --invert-match --word-regexp --literal --fixed-strings --hidden --all-types --all-text --unrestricted
  --skip-vcs-ignores --nocolor --color --noheading --heading --nogroup --group --numbers --nonumbers --nobreak
  --break --filename --nofilename --column --stats --vimgrep --follow --norecurse --recurse --ignore:
  --ignore-dir: --file-search-regex: --depth: --max-count: --after? --before? --context? --js --ts --python --ruby
  --go --java --cpp --cc --html --css --json --yaml --markdown --rust --php --shell
ack |
  -i -I -S -l -L -c -o -v -w -Q -h -H -n -r -R -s -k -1 -x -A: -B: -C: -m: -t: --ignore-case --smart-case
  --files-with-matches --files-without-matches --count --invert-match --word-regexp --literal
  --no-filename --with-filename --nocolor --color --noheading --heading --nogroup --group --nobreak --break
  --column --follow --sort-files --after-context: --before-context: --context: --max-count: --ignore-dir:
  --ignore-file: --type: --known-types --js --ts --python --ruby --go --java --cpp --cc --html --css --json --yaml
  --markdown --rust --php --shell --perl
git grep |
  -a -i -w -v -h -H -E -G -P -F -n -l -L -z -o -c -p -W -q -r -I -A: -B: -C: -e: -m: --text --ignore-case
  --word-regexp --invert-match --extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number
  --column --files-with-matches --name-only --files-without-match --null --only-matching --count --color?
  --no-color --break --heading --show-function --function-context --after-context: --before-context: --context:
  --threads: --quiet --cached --untracked --no-index --exclude-standard --no-exclude-standard --recurse-submodules
  --recursive --no-recursive --max-depth: --full-name --max-count: --and --or --not --all-match
git ls-files |
  -c -d -o -i -s -u -k -m -t -v -f -z -x: -X: --cached --deleted --others --ignored --stage --unmerged --killed
  --modified --exclude: --exclude-from: --exclude-per-directory: --exclude-standard --error-unmatch --full-name
  --recurse-submodules --deduplicate --eol --directory --no-empty-directory --abbrev? --debug --sparse --format:
  --with-tree:
sed, gsed |
  -n -e: -E -r -s -u -z -l: --quiet --silent --expression: --regexp-extended --separate --unbuffered --posix
  --sandbox --line-length:
sort |
  -b -d -f -g -i -M -h -n -R -r -V -c -C -m -s -u -z -k: -t: -S: --ignore-leading-blanks --dictionary-order
  --ignore-case --general-numeric-sort --ignore-nonprinting --month-sort --human-numeric-sort --numeric-sort
  --random-sort --reverse --sort: --version-sort --check? --key: --merge --stable --field-separator: --unique
  --zero-terminated --parallel:
uniq |
  -c -d -D -i -u -z -f: -s: -w: --count --repeated --unique --ignore-case --skip-fields: --skip-chars:
  --check-chars: --all-repeated? --group?
cut |
  -b: -c: -d: -f: -n -s -z --bytes: --characters: --delimiter: --fields: --complement --only-delimited
  --output-delimiter:
column |
  -t -x -n -J -L -d -e -s: -o: -c: -N: -H: -R: --table --separator: --output-separator: --output-width:
fold |
  -b -s -w: --bytes --spaces --width:
expand |
  -i -t: --initial --tabs:
rev |
paste |
  -s -d: -z --serial --delimiters:
tr |
  -c -C -d -s -t --complement --delete --squeeze-repeats --truncate-set1
jq |
  -n --null-input --arg --argjson -r -c -S -e -M -C -s -R -j -a --raw-output --compact-output --sort-keys --exit-status --monochrome-output
  --color-output --slurp --raw-input --join-output --tab --indent:
pwd |
  -L -P --logical --physical
cd, pushd, popd |
  -L -P -
basename |
  -a -s: -z --multiple --suffix: --zero
dirname |
  -z --zero
seq |
  -f: -s: -w --format: --separator: --equal-width
sleep, whoami, tty, arch, true, false, :, groups, sync |
nproc |
  --all --ignore:
id |
  -u -g -G -n -r -a -z --user --group --groups --name --real --zero
uname |
  -a -s -n -r -v -m -p -i -o --all --kernel-name --nodename --kernel-release --machine --operating-system
hostname |
  -s -f -i -I
uptime |
  -p -s --pretty --since
free |
  -b -k -m -g -h -t -w --human --total
printenv |
  -0 --null
stat |
  -c: -f -L -t -x -r -n --format: --printf: --terse --dereference --file-system
du |
  -a -b -c -d: -h -H -k -l -L -m -P -s -S -x -0 --all --apparent-size --bytes --total --max-depth: --human-readable --si
  --summarize --separate-dirs --one-file-system --exclude: --threshold: --time? --dereference --null
df |
  -a -B: -h -H -i -k -l -P -t: -T -x: --all --block-size: --human-readable --si --inodes --local --portability --total
  --type: --exclude-type: --print-type
which |
  -a -s --all
whereis |
  -b -m -s -u
type |
  -a -t -p -P -f
realpath |
  -e -m -L -P -q -s -z --canonicalize-existing --canonicalize-missing --relative-to: --relative-base: --strip --no-symlinks
readlink |
  -f -e -m -n -q -s -v -z --canonicalize --canonicalize-existing --canonicalize-missing --no-newline
md5sum, sha1sum, sha224sum, sha256sum, sha384sum, sha512sum, b2sum, shasum, cksum, sum |
  -a: -b -c -t -w -z --check --binary --text --tag --zero --quiet --status --warn --ignore-missing --algorithm:
cmp |
  -b -i: -l -n: -s --print-bytes --ignore-initial: --verbose --bytes: --quiet --silent
comm |
  -1 -2 -3 -z --check-order --nocheck-order --output-delimiter: --total --zero-terminated
join |
  -1: -2: -a: -e: -i -j: -o: -t: -v: -z --header --ignore-case
od |
  -A: -a -b -c -d -f -i -j: -l -N: -o -s -t: -v -w? -x --address-radix: --skip-bytes: --read-bytes: --format: --width?
hexdump, hd |
  -b -c -C -d -n: -o -s: -v -x --canonical --length: --skip:
strings |
  -a -d -f -n: -o -t: -w -e: --all --bytes: --radix: --encoding:
xxd |
  -a -b -c: -C -e -E -g: -i -l: -o: -p -ps -s: -u
base64, base32 |
  -d -i -w: --decode --ignore-garbage --wrap:
unexpand |
  -a -t: --all --first-only --tabs:
fmt |
  -c -s -t -u -w: -p: -g: --width: --split-only --uniform-spacing
pr |
  -a -d -l: -m -n? -o: -t -w: --columns:
shuf |
  -e -i: -n: -r -z --echo --input-range: --head-count: --repeat --zero-terminated
iconv |
  -f: -t: -l -c -s --from-code: --to-code: --list --silent
tsort |
diff, colordiff |
  -a -b -B -c -C: -d -e -E -i -I: -N -p -q -r -s -t -T -u -U: -w -W: -x: -y -Z --text --ignore-space-change
  --ignore-blank-lines --ignore-all-space --ignore-case --ignore-matching-lines: --ignore-trailing-space --brief
  --recursive --new-file --unified? --context? --side-by-side --width: --color? --exclude: --report-identical-files
  --minimal --suppress-common-lines --strip-trailing-cr --label: --show-c-function
file |
  -b -i -I -L -h -k -N -n -p -r -s -z -0 --brief --mime --mime-type --mime-encoding --dereference --no-dereference
  --keep-going --no-pad --print0
date, gdate |
  -u -I? -R -d: -r: -j -n --utc --universal --date: --reference: --iso-8601? --rfc-3339: --rfc-email
man |
  -k -f -w -a --whatis --apropos --where --path --all
ps |
  -a -A -c -d -e -f -F -g: -G: -h -H -j -l -L -m -M -N -o: -p: -q: -s: -t: -T -u: -U: -w -x -y --forest --sort: --no-headers
  --pid: --ppid: --user: --format: --deselect
pgrep |
  -a -c -d: -f -g: -G: -i -l -n -o -P: -s: -t: -u: -U: -v -x --list-name --list-full --full --exact --newest --oldest
lsof |
  -i? -n -P -p: -t -u: -c: -a -l -s? -R
ss, netstat |
  -a -l -n -p -t -u -x -r -s -i -e -4 -6 -H --all --listening --numeric --processes --tcp --udp --summary
tput, clear |
mkdir |
  -p -v -m: --parents --verbose --mode:
rmdir |
  -p -v --parents --verbose --ignore-fail-on-non-empty
touch |
  -a -c -d: -h -m -r: -t: --no-create --date: --no-dereference --reference: --time:
rm |
  -f -i -I -r -R -d -v --force --interactive? --recursive --dir --verbose --one-file-system --preserve-root?
cp, gcp |
  -a -b -d -f -i -l -L -n -p -P -r -R -s -u -v -x -H -T --archive --force --interactive --link --dereference --no-clobber
  --no-dereference --preserve? --recursive --symbolic-link --update? --verbose --one-file-system --parents --reflink?
  --no-target-directory
mv |
  -b -f -i -n -u -v -T --force --interactive --no-clobber --update? --verbose --no-target-directory
ln |
  -b -f -i -n -r -s -v -L -P -T --force --interactive --no-dereference --relative --symbolic --verbose --no-target-directory
chmod, chown, chgrp |
  -c -f -v -R -h --changes --silent --quiet --verbose --recursive --reference: --no-dereference
kill |
  -l -L -s: -n: -1 -2 -3 -6 -9 -15 -HUP -INT -KILL -TERM -QUIT -USR1 -USR2 -0
tee |
  -a -i -p --append --ignore-interrupts
awk, gawk, mawk, nawk |
  -F: -v: --field-separator: --assign:
fd, fdfind |
  -H -I -u -s -i -g -F -a -l -L -p -0 -d: -t: -e: -E: -c: -j: -S: -1 -q -h --hidden --no-ignore --unrestricted
  --case-sensitive --ignore-case --glob --regex --fixed-strings --absolute-path --list-details --follow --full-path
  --print0 --max-depth: --min-depth: --exact-depth: --type: --extension: --exclude: --color: --threads: --size:
  --changed-within: --changed-before: --max-results: --quiet --no-ignore-vcs --strip-cwd-prefix
find, gfind |
  -H -L -P -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -size -mtime -atime -ctime
  -mmin -amin -cmin -newer -anewer -cnewer -newermt -newerct -newerat -user -group -uid -gid -perm -links -inum
  -samefile -fstype -used -empty -executable -readable -writable -nouser -nogroup -type -xtype -maxdepth -mindepth
  -regextype -printf -depth -d -xdev -mount -follow -noleaf -daystart -nowarn -warn -print -print0 -ls -quit -true
  -false -ignore_readdir_race -noignore_readdir_race -o -or -a -and -not -prune -exec -execdir -E
nm |
  -a -A -C -D -g -n -o -p -P -r -S -t: -u -U --demangle? --dynamic --extern-only --undefined-only --defined-only --size-sort
  --numeric-sort --print-size
objdump |
  -a -d -D -f -h -p -r -s -S -t -T -x -C -l -w -j: -M: --disassemble? --syms --headers --all-headers --section: --demangle?
readelf |
  -a -d -e -h -l -n -r -s -S -t -u -V -W -x: -p: --all --headers --symbols --sections --segments --dynamic --wide
size |
  -A -B -d -o -x -t --format: --totals
yq |
  -r -e -o: -p: -P -M -C -N -c --output-format: --input-format: --prettyPrint --no-colors --colors --exit-status --raw-output
tar, bsdtar |
  -c -x -t -r -u -z -j -J -f: -v -k -m -O -p -h -a -w --create --extract --get --list --gzip --bzip2 --xz --zstd --file:
  --verbose --keep-old-files --to-stdout --exclude: --strip-components: --wildcards --no-same-owner --numeric-owner
  --auto-compress --sort: --owner: --group: --mtime:
unzip |
  -l -v -p -t -q -o -n -j -Z
gzip, gunzip, zcat, bzip2, bunzip2, bzcat, xz, unxz, xzcat, zstd |
  -c -d -f -k -l -n -q -t -v -1 -2 -3 -4 -5 -6 -7 -8 -9 --stdout --decompress --force --keep --list --quiet --test --verbose
`
