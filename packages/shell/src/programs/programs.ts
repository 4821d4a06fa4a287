import { wordList } from './word-list.ts'

/** What is known about programs by their names alone, so that a pattern's star covers no more than its author expects. */
type Trait = (program: string) => boolean

function oneOf(...lists: readonly string[]): Trait {
  const names = wordList(lists.join(' '))
  return (program) => names.has(program)
}

const PRINTS =
  'cat ls dir echo wc head tail tac nl cut tr rev paste fold expand unexpand basename dirname pwd seq sleep whoami id ' +
  'groups uname stat du df which whereis realpath readlink md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum ' +
  'sum cmp comm join od hexdump strings grep egrep fgrep jq true false : tty arch nproc uptime free printenv cd pushd popd kill'
const CHANGES = 'rm rmdir mkdir touch cp mv ln chmod chown chgrp'
const RUNS_NO_ARGUMENT = 'printf test [ [[ (( find gfind git rg ag ack sed gsed man type sort uniq diff'
const SHELLS = 'sh bash dash ash ksh mksh zsh rbash'
const REMOTE = 'ssh slogin autossh rsh mosh plink'

/** Whatever their arguments, these programs run nothing and write nothing but what their name says. */
export const takesAnything: Trait = oneOf(PRINTS, CHANGES)

/** Programs that change no file, whatever their arguments. */
export const neverWrites: Trait = oneOf(
  PRINTS,
  'printf shasum b2sum test [ [[ (( dirs type times jobs wait exit return break continue shift export declare typeset local',
  'readonly unset read mapfile readarray getopts let set shopt alias unalias ulimit umask env command builtin exec ps pgrep',
  'lsof netstat dig nslookup host ping getent locale lscpu lsblk last who w finger factor expr cal getconf tput clear yes',
  'diff colordiff fmt pr tsort column zcat zgrep bzcat xzcat trap eval',
)

/** Builtins that change what later commands mean. A star does not cover them. */
export const changesShell: Trait = oneOf(
  'export declare typeset local readonly read mapfile readarray getopts unset let set shopt alias unalias enable hash',
  'exec source . eval trap complete bind',
)

/** Their arguments are data, never a program to run; programs run by their options are found by the shell reading. */
export const runsNoArgument: Trait = oneOf(PRINTS, CHANGES, RUNS_NO_ARGUMENT)

/** Their input is data to them. */
export const takesInputAsData: Trait = oneOf(
  PRINTS,
  CHANGES,
  RUNS_NO_ARGUMENT,
  'tee less more column gzip gunzip zcat xz unxz xzcat bzip2 bunzip2 bzcat zstd zstdcat base64 base32 xxd openssl gpg curl',
  'wget gh glab mail pbcopy xclip xsel wl-copy bat batcat fmt pr iconv shuf sponge split csplit tar bsdtar cpio zip unzip dd',
  'pv awk gawk mawk nawk yq xmllint prettier patch ts read mapfile readarray xargs gxargs tsort bc psql mysql mariadb',
  'sqlite3 duckdb apply_patch applypatch',
)

/** A shell or wrapper that begins a command in the middle of another one's arguments. */
export const startsCommand: Trait = oneOf(
  SHELLS,
  'fish env sudo doas timeout nice nohup xargs busybox setsid stdbuf su',
)

/** Their arguments are a script for a shell elsewhere. */
export const isRemote: Trait = oneOf(REMOTE)

/** Their input is a script for a shell elsewhere, or behind a connection. */
export const feedsShell: Trait = oneOf(
  REMOTE,
  'docker podman nerdctl docker-compose kubectl oc lxc incus lxc-attach machinectl vagrant gcloud fly flyctl adb crictl',
  'nc ncat netcat socat telnet',
)

/** The first word is a subcommand: `docker rm` does not run `rm`. */
export const hasSubcommands: Trait = oneOf(
  'npm pnpm yarn bun docker podman kubectl cargo go brew apt apt-get dnf yum apk pip pip3 uv gh glab systemctl helm terraform',
  'tofu aws gcloud az svn hg',
)

/** Programs with options of more than one letter after a single dash, so letters are not bundled. */
export const hasWordOptions: Trait = oneOf(
  'find gfind java javac go terraform tofu openssl ffmpeg convert magick xcodebuild gcc g++ clang ant mvn adb',
)

const LANGUAGE =
  /^(?:python|pypy|ipython|micropython|node|nodejs|bun|deno|tsx|ts-node|zx|esno|qjs|gjs|perl|raku|ruby|jruby|lua|luajit|php|julia|Rscript|R|ocaml|ghc|groovy|elixir|racket|clojure|bb|scala)[\d.]*$/

export const isLanguage: Trait = (program) => LANGUAGE.test(program)
export const isAwk: Trait = oneOf('awk gawk mawk nawk')
export const isSed: Trait = oneOf('sed gsed')

/** Shells and builtins that run exactly the text they are given, which is judged on its own. */
export const isLookedThrough: Trait = oneOf(SHELLS, 'eval trap watch')
