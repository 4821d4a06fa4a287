import { optionTable, type OptionTable } from './options.ts'

/**
 * The options of programs that are known to be harmless: with them, a program still reads, prints or changes only what
 * its name and its operands say. Options that take code, settings, another folder or a file to write are left out on
 * purpose, and so are abbreviations: an option that is not here asks. `:` takes a value, `?` takes one only if attached.
 * Classifying what a command reads uses the same tables.
 */
const PROGRAMS = `
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
  --files-with-matches --files-without-matches --count --output: --invert-match --word-regexp --literal
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
  -r -c -S -e -M -C -s -R -j -a --raw-output --compact-output --sort-keys --exit-status --monochrome-output
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
  -c -x -t -r -u -z -j -J -f: -v -k -m -O -p -h -a -w -W --create --extract --get --list --gzip --bzip2 --xz --zstd --file:
  --verbose --keep-old-files --to-stdout --exclude: --strip-components: --wildcards --no-same-owner --numeric-owner
  --auto-compress --sort: --owner: --group: --mtime:
unzip |
  -l -v -p -t -q -o -n -j -Z
gzip, gunzip, zcat, bzip2, bunzip2, bzcat, xz, unxz, xzcat, zstd |
  -c -d -f -k -l -n -q -t -v -1 -2 -3 -4 -5 -6 -7 -8 -9 --stdout --decompress --force --keep --list --quiet --test --verbose
curl |
  -s -S -f -L -i -I -v -k -g -N -G -4 -6 -X: -H: -d: -u: -m: -A: -e: -b: -w: -r: --silent --show-error --fail --fail-with-body
  --location --include --head --verbose --insecure --globoff --no-buffer --get --request: --header: --data: --data-raw:
  --data-binary: --data-urlencode: --json: --user: --max-time: --connect-timeout: --retry: --retry-delay: --user-agent:
  --referer: --cookie: --write-out: --compressed --http1.1 --http2 --ipv4 --ipv6 --url: --no-progress-meter --retry-all-errors
wget |
  -q -S -v -nv -c -t: -T: --spider --quiet --server-response --tries: --timeout: --no-verbose --header:
make, gmake |
  -j? -k -n -s -B -i -q -w -d -l: --jobs? --keep-going --just-print --dry-run --silent --quiet --always-make --no-print-directory
  --print-directory --question --trace --debug? --warn-undefined-variables --output-sync?
npm, pnpm, yarn |
  -s -q -d -w: -g -D -S -E -O -P -r -F: --silent --quiet --verbose --loglevel: --workspace: --workspaces --if-present --json --long
  --depth: --all --omit: --include: --production --prod --dev --save --save-dev --save-exact --save-optional --no-save
  --no-audit --no-fund --no-progress --prefer-offline --offline --legacy-peer-deps --force --dry-run --ignore-scripts
  --frozen-lockfile --filter: --recursive --parallel --stream --global --version --help --no-color --color? --no-bail
  --include-workspace-root --parseable --package-lock-only --immutable
bun |
  --silent --watch --bail? --timeout: --coverage --frozen-lockfile --production --version
tsc |
  -p: -w -v -h --noEmit --project: --watch --pretty? --skipLibCheck --strict --target: --module: --lib: --jsx: --version --help
  --listFiles --showConfig --noUnusedLocals --noUnusedParameters --moduleResolution: --esModuleInterop --allowJs --checkJs
  --noErrorTruncation --extendedDiagnostics --diagnostics --explainFiles --traceResolution --isolatedModules
eslint |
  --ext: --fix --fix-dry-run --quiet --max-warnings: --cache --color --no-color --debug --version --no-cache --rule:
  --no-error-on-unmatched-pattern --report-unused-disable-directives --no-warn-ignored --ignore-pattern: --format: -f: -v -h
  --no-inline-config --fix-type: --pass-on-no-patterns --concurrency:
prettier |
  -c -l -w -u --check --list-different --write --ignore-unknown --no-config --no-error-on-unmatched-pattern --log-level:
  --cache --tab-width: --single-quote --no-semi --print-width: --trailing-comma: --version --no-color --no-editorconfig
vitest |
  -t: -u --run --watch --no-watch --coverage --testNamePattern: --reporter: --bail? --silent --update --passWithNoTests
  --no-coverage --changed? --shard: --retry: --testTimeout: --no-file-parallelism --hideSkippedTests --logHeapUsage
  --project: --no-color --allowOnly --version
jest |
  -t: -u -b -i -o -w: --testNamePattern: --coverage --watch --watchAll --bail? --runInBand --verbose --silent --updateSnapshot --ci
  --passWithNoTests --onlyChanged --onlyFailures --listTests --maxWorkers: --testTimeout: --no-coverage --no-cache
  --detectOpenHandles --forceExit --colors --noStackTrace --showConfig --errorOnDeprecated --version --testPathPattern: --json
mocha |
  -g: -f: -i -b -t: -s: -w -j: --grep: --fgrep: --invert --bail --timeout: --slow: --watch --parallel --jobs: --exit --dry-run
  --recursive --color --no-color --diff --no-diff --full-trace --forbid-only --retries: --version --sort
pytest, py.test |
  -x -v -q -s -l -k: -m: -n: -r: --co --collect-only --verbose --quiet --exitfirst --maxfail: --lf --last-failed --ff --failed-first
  --nf --sw --stepwise --tb: --durations: --durations-min: --no-header --no-summary --color: --capture: --showlocals --full-trace
  --disable-warnings --markers --fixtures --version --strict-markers --no-cov --cov? --cov-fail-under: --setup-show --runxfail
  --deselect: --timeout: --numprocesses: --dist: -vv -vvv
mypy |
  -v --strict --pretty --show-error-codes --show-error-context --no-error-summary --ignore-missing-imports --version
  --show-column-numbers --check-untyped-defs --disallow-untyped-defs --no-incremental --python-version: --exclude: --no-color-output
ruff |
  -q -v -n --fix --diff --check --quiet --verbose --statistics --show-fixes --no-cache --select: --ignore: --extend-select:
  --exclude: --output-format: --target-version: --line-length: --preview --exit-zero --no-fix --unsafe-fixes --version
black, isort |
  -q -v -l: --check --diff --quiet --verbose --line-length: --profile: --version --color --check-only
cargo -- |
  -D: -W: -A: -F: --nocapture --no-capture --test-threads: --ignored --include-ignored --exact --show-output --skip: --list -q
  --check
cargo |
  -v -q -p: -j: -F: -r -k --verbose --quiet --release --all --workspace --all-targets --all-features --no-default-features
  --features: --package: --exclude: --lib --bins --bin: --tests --test: --examples --example: --benches --bench: --jobs:
  --keep-going --no-fail-fast --no-run --offline --locked --frozen --color: --message-format: --profile: --target: --fix
  --allow-dirty --allow-staged --check --no-deps --depth: --edition: --timings? --version --list -vv --doc
go |
  -v -x -n -a -race -cover -short -json -failfast -run -bench -benchmem -benchtime -count -timeout -parallel -cpu -list -tags
  -mod -u -d -l -m -s -p -trimpath -covermode -coverpkg -shuffle -skip -vet -fix -deps -e -f -msan -asan -fullpath -t
gradle, gradlew |
  -q -i -d -s -S --info --debug --stacktrace --full-stacktrace --quiet --warn --continue --dry-run --parallel --no-parallel
  --daemon --no-daemon --rerun-tasks --offline --scan --no-build-cache --build-cache --tests --console: -x -m
  --version --status --warning-mode:
mvn |
  -q -B -o -e -X -U -V -am -pl -T --quiet --batch-mode --offline --errors --debug --show-version --version
  --also-make --projects: --threads:
docker, podman |
  -a -q -n: -f --all --quiet --no-trunc --last: --latest --format: --filter: --tail: --follow --since: --until: --timestamps -t
  --size --no-stream --details --version
kubectl |
  -n: -A -w -l: -o: -c: -p --output: --namespace: --all-namespaces --watch --selector: --show-labels --no-headers --tail: --since:
  --follow --container: --previous --context: --sort-by: --field-selector: --client --timestamps --limit: --all-containers
gh |
  -R: -s: -L: -q: -a: -l: -A: -B: -H: -S: -w -t: -b: -d -c -u: -e: --repo: --state: --limit: --json: --jq: --author: --assignee: --label: --base:
  --head: --search: --title: --body: --draft --web --comments --log --log-failed --job: --workflow: --branch: --user: --event:
  --status: --name-only --patch --color: --milestone: --reviewer: --required --exit-status --verbose --paginate --fill --squash
  --merge --rebase --approve --comment --created: --commit: --attempt: --compact --interval: --watch
systemctl |
  -a -l -n: --all --full --lines: --no-pager --user --type: --state: --failed
python3, python |
  -V --version -m -u -B
json.tool |
  --sort-keys --indent: --no-indent --compact --tab --no-ensure-ascii --json-lines
http.server |
  -b: --bind:
node, nodejs |
  --test --version -v --test-only --test-name-pattern: --test-reporter: --test-concurrency: --test-timeout: --watch --no-warnings
  --experimental-strip-types --enable-source-maps --trace-warnings --test-skip-pattern: --experimental-test-coverage
  --test-force-exit --test-shard: --check -c
docker-compose |
  -a -q --all --quiet --services --tail: --follow --timestamps --no-color
`

const GIT = `
git status |
  -s -b -u? -z -v --short --branch --porcelain? --long --untracked-files? --ignored? --show-stash --ahead-behind
  --no-ahead-behind --renames --no-renames --ignore-submodules? --column? --no-column --verbose
git log, git show, git diff, git whatchanged, git reflog, git shortlog, git diff-tree, git diff-index, git diff-files, git rev-list, git range-diff |
  -p -u -s -n: -L: -S: -G: -U: -M? -C? -B? -D -R -a -b -w -z -q -c -i -E -F -P -g -t -e -m -r -1 -2 -3 -0 -W
  --patch --no-patch --oneline --graph --all --branches? --tags? --remotes? --decorate? --no-decorate --stat? --shortstat
  --numstat --dirstat? --summary --compact-summary --name-only --name-status --raw --cached --staged --merge-base --quiet
  --pretty? --format: --abbrev? --abbrev-commit --no-abbrev-commit --date: --since: --after: --until: --before: --author:
  --committer: --grep: --all-match --invert-grep --max-count: --skip: --reverse --first-parent --merges --no-merges --follow
  --diff-filter: --find-renames? --find-copies? --no-renames --unified: --word-diff? --word-diff-regex: --color-words? --color?
  --no-color --color-moved? --ignore-space-change --ignore-all-space --ignore-blank-lines --ignore-space-at-eol
  --ignore-cr-at-eol --minimal --patience --histogram --diff-algorithm: --function-context --inter-hunk-context:
  --pickaxe-all --pickaxe-regex --full-index --binary --text --relative? --no-relative --exit-code --check --topo-order
  --date-order --author-date-order --boundary --left-right --cherry-pick --cherry-mark --cherry --ancestry-path --full-history
  --simplify-merges --simplify-by-decoration --no-walk? --walk-reflogs --show-signature --notes? --no-notes --source
  --use-mailmap --no-mailmap --no-ext-diff --no-textconv --submodule? --ignore-submodules? --exclude: --glob: --count
  --objects --line-prefix: --no-prefix --src-prefix: --dst-prefix: --cc --combined-all-paths --diff-merges: --relative-date
  --encoding: --expand-tabs? --no-expand-tabs --numbered --email --parents --children --no-index --output-indicator-new:
git blame, git annotate |
  -L: -l -t -s -e -f -n -w -c -C? -M? -p -b --root --show-stats --porcelain --line-porcelain --incremental --date: --since:
  --ignore-rev: --first-parent --show-name --show-number --show-email --reverse --color-lines --color-by-age --abbrev:
git branch |
  -a -r -v -vv -l -d -D -m -M -c -f -u: -q --all --remotes --verbose --list --show-current --contains? --no-contains?
  --merged? --no-merged? --sort: --format: --points-at: --color? --no-color --column? --delete --move --force --copy
  --set-upstream-to: --unset-upstream --track? --no-track --abbrev? --ignore-case
git tag |
  -l -n? -d -a -m: -f --list --sort: --format: --contains? --no-contains? --merged? --points-at: --delete --annotate --message:
  --force --no-sign --column? --color?
git remote |
  -v --verbose --push --all
git rev-parse |
  -q --abbrev-ref? --short? --verify --quiet --show-toplevel --show-prefix --show-cdup --is-inside-work-tree --is-bare-repository
  --git-dir --git-common-dir --absolute-git-dir --symbolic-full-name --all --branches? --tags? --remotes? --is-inside-git-dir
  --show-superproject-working-tree --symbolic --show-object-format? --path-format:
git add, git stage |
  -A -u -n -v -N --all --update --dry-run --verbose --intent-to-add --no-ignore-removal --ignore-errors --refresh --renormalize
  --chmod: -f --force --ignore-removal
git commit |
  -a -m: -q -v -n -s -C: --all --message: --amend --no-edit --allow-empty --allow-empty-message --quiet --verbose --no-verify
  --signoff --dry-run --author: --date: --fixup: --squash: --no-gpg-sign --only --include --reset-author --short --trailer:
  --no-status --porcelain --no-signoff --reuse-message:
git stash |
  -u -k -m: -q -p -a -S --include-untracked --keep-index --message: --quiet --index --staged --all --stat --patch --name-only
git checkout, git switch |
  -b -B -c -C -f -q -t -d -m --force --quiet --track? --no-track --detach --orphan: --ours --theirs --create: --force-create:
  --discard-changes --guess --no-guess --merge --progress --no-progress -l
git restore |
  -S -W -s: -q --staged --worktree --source: --quiet --ours --theirs --ignore-unmerged --overlay --no-overlay
git fetch, git pull |
  -a -p -q -v -t -n -f -j: -P --all --prune --prune-tags --quiet --verbose --tags --no-tags --depth: --deepen: --unshallow --force
  --dry-run --jobs: --rebase? --no-rebase --ff --ff-only --no-ff --autostash --no-autostash --append --no-commit --commit --stat
  --no-stat --no-edit --progress --recurse-submodules? --no-recurse-submodules --shallow-since:
git push |
  -u -q -v -n -d -f --set-upstream --quiet --verbose --dry-run --tags --follow-tags --delete --force --force-with-lease? --all
  --no-verify --prune --mirror --porcelain --progress --atomic --no-progress
git merge, git cherry-pick, git revert |
  -n -e -q -v -m: -s: -X: -x --no-edit --no-ff --ff --ff-only --squash --no-commit --commit --abort --continue --quit --skip --quiet
  --verbose --stat --no-stat --strategy: --strategy-option: --mainline: --message: --allow-unrelated-histories --signoff
  --no-verify --allow-empty --keep-redundant-commits
git rebase |
  -i -q -v -m -p -f --interactive --onto: --continue --abort --skip --quit --quiet --verbose --autosquash --no-autosquash
  --autostash --no-autostash --keep-empty --root --rebase-merges? --update-refs --no-verify --edit-todo --show-current-patch
  --keep-base --fork-point --no-fork-point --strategy: --no-ff
git reset |
  -q -N -p --soft --mixed --hard --merge --keep --quiet --no-refresh --patch
git clean |
  -d -f -i -n -q -x -X -e: --force --dry-run --quiet --interactive --exclude:
git rm, git mv |
  -f -r -n -q -k -v --force --cached --dry-run --quiet --verbose --ignore-unmatch
git config |
  -l -z --list --get --get-all --get-regexp --global --local --system --worktree --show-origin --show-scope --name-only --null
  --bool --int --type: --default: --unset --unset-all --add --all --value: --fixed-value
git describe, git name-rev |
  --tags --all --long --always --abbrev: --dirty? --exact-match --match: --exclude: --contains --first-parent --candidates:
  --name-only --refs: --broken?
git ls-tree |
  -r -d -t -l -z --long --name-only --name-status --full-name --full-tree --abbrev? --object-only --format:
git ls-remote |
  -h -t -q --heads --branches --tags --refs --quiet --exit-code --get-url --sort: --symref
git cat-file |
  -t -s -e -p --batch-check?
git show-ref, git for-each-ref |
  -d -q -s --head --heads --branches --tags --dereference --hash? --verify --quiet --abbrev? --count: --sort: --format: --points-at:
  --merged? --no-merged? --contains? --no-contains? --exclude-existing --ignore-case --omit-empty
git merge-base |
  -a --all --octopus --is-ancestor --independent --fork-point
git worktree |
  -b -B -f -d -v -q --detach --force --porcelain --verbose --checkout --no-checkout --quiet --track --lock --reason: --dry-run
  -n --expire:
git check-ignore, git check-attr |
  -q -v -n -z -a --quiet --verbose --non-matching --no-index --stdin --all --cached
git submodule |
  -q --quiet --init --recursive --cached --depth: --remote --summary-limit:
git clone |
  -q -v -n -b: --quiet --verbose --depth: --branch: --single-branch --no-single-branch --no-checkout --bare --mirror --tags
  --no-tags --recurse-submodules? --shallow-submodules --filter: --progress -l
git init |
  -q -b: --quiet --bare --initial-branch: --shared?
git apply, git am |
  --check --stat --numstat --summary --cached --index --reverse -R -v --verbose -p: -3 --3way --abort --continue --skip --quit
  --whitespace: --apply --unidiff-zero --recount -C: --reject
git archive |
  -v --format: --prefix: --list -0 -9
git format-patch |
  -n -N -k -s -1 -2 -3 --stdout --numbered --signoff --cover-letter --base: --start-number: --subject-prefix: --no-stat
git bisect, git count-objects, git var, git version, git help, git notes, git cherry, git verify-commit, git verify-tag, git gc, git prune, git pack-refs, git update-index, git fsck |
  -v -H --verbose --human-readable --refresh --really-refresh -q --quiet --auto --no-prune --all --build-options
`

/** Programs that take a number as an option: `head -20`. */
const TAKES_DIGITS =
  /^(?:g?head|g?tail|fold|[efg]?grep|git (?:grep|log|show|diff|shortlog|reflog|rev-list|format-patch|tag))$/

const TABLES: ReadonlyMap<string, OptionTable> = new Map(
  `${PROGRAMS}${GIT}`
    .split(/\n(?=\S)/)
    .filter((entry) => entry.trim() !== '')
    .flatMap((entry) => {
      const [names = '', options = ''] = entry.split('|')
      const list = names.trim().split(', ')
      return list.map((name) => [name, optionTable(options.trim(), { digits: TAKES_DIGITS.test(name) })] as const)
    }),
)

/** Returns the harmless options of a program, or of a program and its subcommand; `undefined` when it is not known. */
export function harmlessOptions(name: string): OptionTable | undefined {
  return TABLES.get(name)
}

const NO_OPTIONS = optionTable('')

/** Returns the harmless options of a program that is known to be in the table. */
export function tableOf(name: string): OptionTable {
  return TABLES.get(name) ?? NO_OPTIONS
}
