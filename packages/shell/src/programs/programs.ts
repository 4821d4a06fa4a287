import { wordList } from './word-list.ts'

/** What is known about programs, so that a pattern's star does not cover more than its author expects. */

/** Whatever their arguments, these programs run nothing and write nothing but what their name says. */
const TAKES_ANYTHING: ReadonlySet<string> = wordList(
  'cat ls dir echo wc head tail tac nl cut tr rev paste fold expand unexpand basename dirname pwd seq sleep whoami id ' +
    'groups uname stat du df which whereis realpath readlink md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum ' +
    'sum cmp comm join od hexdump strings grep egrep fgrep jq true false : tty arch nproc uptime free printenv ' +
    'cd pushd popd rm rmdir mkdir touch cp mv ln chmod chown chgrp kill',
)

/** Builtins that change what later commands mean. A star does not cover them. */
const CHANGES_SHELL: ReadonlySet<string> = wordList(
  'export declare typeset local readonly read mapfile readarray getopts unset let set shopt alias unalias enable hash ' +
    'exec source . eval trap complete bind',
)

/** Their arguments are data, never a program to run; programs run by their options are found by the shell reading. */
const RUNS_NO_ARGUMENT: ReadonlySet<string> = wordList(
  'printf test [ [[ (( find gfind git rg ag ack sed gsed man type sort uniq diff',
)

/** Their input is data to them. */
const INPUT_IS_DATA: ReadonlySet<string> = wordList(
  'tee less more column gzip gunzip zcat xz unxz xzcat bzip2 bunzip2 bzcat zstd zstdcat base64 base32 xxd openssl gpg curl ' +
    'wget gh glab mail pbcopy xclip xsel wl-copy bat batcat fmt pr iconv shuf sponge split csplit tar bsdtar cpio zip unzip dd ' +
    'pv awk gawk mawk nawk yq xmllint prettier patch ts cd pushd popd read mapfile readarray xargs gxargs tsort bc hexdump ' +
    'psql mysql mariadb sqlite3 duckdb apply_patch applypatch',
)

/** A shell or wrapper that begins a command in the middle of another one's arguments. */
const STARTS_COMMAND: ReadonlySet<string> = wordList(
  'sh bash dash ash ksh mksh zsh rbash fish env sudo doas timeout nice nohup xargs busybox setsid stdbuf su',
)

/** Programs that pass their arguments or input to a shell on another machine or behind a connection. */
const REMOTE: ReadonlySet<string> = wordList('ssh slogin autossh rsh mosh plink')
const CARRIES: ReadonlySet<string> = wordList(
  'docker podman nerdctl docker-compose kubectl oc lxc incus lxc-attach machinectl vagrant gcloud fly flyctl adb crictl ' +
    'nc ncat netcat socat telnet',
)

/** The first word is a subcommand: `docker rm` does not run `rm`. */
const HAS_SUBCOMMANDS: ReadonlySet<string> = wordList(
  'npm pnpm yarn bun docker podman kubectl cargo go brew apt apt-get dnf yum apk pip pip3 uv gh glab systemctl helm terraform ' +
    'tofu aws gcloud az svn hg',
)

/** Programs with options of more than one letter after a single dash, so letters are not bundled. */
const SINGLE_DASH: ReadonlySet<string> = wordList(
  'find gfind java javac go terraform tofu openssl ffmpeg convert magick xcodebuild gcc g++ clang ant mvn adb',
)

export function takesAnything(program: string): boolean {
  return TAKES_ANYTHING.has(program)
}

export function changesShell(program: string): boolean {
  return CHANGES_SHELL.has(program)
}

export function runsNoArgument(base: string): boolean {
  return TAKES_ANYTHING.has(base) || RUNS_NO_ARGUMENT.has(base)
}

export function takesInputAsData(base: string): boolean {
  return runsNoArgument(base) || INPUT_IS_DATA.has(base)
}

export function startsCommand(base: string): boolean {
  return STARTS_COMMAND.has(base)
}

/** True when the arguments are a script for a shell elsewhere. */
export function isRemote(base: string): boolean {
  return REMOTE.has(base)
}

/** True when the input is a script for a shell elsewhere. */
export function feedsShell(base: string): boolean {
  return REMOTE.has(base) || CARRIES.has(base)
}

export function hasSubcommands(base: string): boolean {
  return HAS_SUBCOMMANDS.has(base)
}

export function bundlesLetters(base: string): boolean {
  return !SINGLE_DASH.has(base)
}

const AWK = /^[gmn]?awk$/
const SED = /^g?sed$/

export function isAwk(base: string): boolean {
  return AWK.test(base)
}

export function isSed(base: string): boolean {
  return SED.test(base)
}

/** Shells and builtins that run exactly the text they are given, which is judged on its own. */
const LOOKED_THROUGH: ReadonlySet<string> = wordList('sh bash dash ash ksh mksh zsh rbash eval trap watch')

export function isLookedThrough(base: string): boolean {
  return LOOKED_THROUGH.has(base)
}
