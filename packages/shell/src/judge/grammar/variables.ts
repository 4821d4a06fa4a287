/** Variables that a shell itself reads or evaluates when they are set. */
const OF_THE_SHELL =
  /^(?:BASH.*|IFS|PATH|PS[0-4]|ENV|CDPATH|GLOBIGNORE|GLOBSORT|POSIX.*|SHELL.*|PROMPT.*|LD_.*|DYLD_.*|RANDOM|SRANDOM|SECONDS|LINENO|OPT.*|HIST.*|FUNC.*|DIRSTACK|EPOCH.*|GROUPS|E?UID|PPID|PWD|OLDPWD|HOME|TMOUT|FIGNORE|FCEDIT|MAIL.*|COMP.*|READLINE.*|EXECIGNORE|CHILD_MAX|REPLY|PIPESTATUS|COPROC|MAPFILE|TIMEFORMAT|TEXTDOMAIN.*|ZDOTDIR|[cf]?path|manpath|mailpath|module_path|fignore|argv|psvar|watch|histchars|prompt|status)$/

/** Names of variables that tell programs what to load, run, write or connect to. */
const TELLS_PROGRAMS =
  /PATH|FILE|DIR|HOME|LOG|CONF|RC$|OPT|FLAG|ARGS|CMD|COMMAND|EXEC|SHELL|PAGER|EDITOR|BROWSER|VISUAL|PROXY|_proxy$|HOST|URL|PRELOAD|LIB|PLUGIN|MODULE|REQUIRE|IMPORT|LOAD|HOOK|WRAPPER|RUNNER|LINKER|COMPILER|TRACE|OUT|DUMP|CACHE|PREFIX|ROOT|TMP|TEMP|SOCK|ASKPASS|PASS|RSH|INIT|STARTUP|AGENT|CERT|KEY|^(?:GIT|SSH|SVN|CVS|LESS|NODE|NPM|npm|YARN|PNPM|BUN|DENO|PYTHON|PIP|PYTEST|PERL|RUBY|GEM|BUNDLE|JAVA|_JAVA|JDK|MAVEN|GRADLE|GO|RUST|CARGO|CC|CXX|CPP|LD|AR|AS|MAKE|GNUMAKE|TAR|GREP|RIPGREP|RSYNC|CURL|WGET|DOCKER|KUBE|AWS|XDG|LUA|VIM|EXINIT|DOTNET|OPENSSL|SSL|GCONV|GLIBC|MALLOC|LOCPATH|NLSPATH|TERM|DISPLAY|DBUS|SUDO|PG|PSQL|MYSQL|VITE|JEST|MOCHA|TS_|BABEL|ESLINT|PRETTIER)(?:_|$|[A-Z0-9])/

/** Variables that only change how output looks, or that say in which mode something runs. */
const HARMLESS =
  /^(?:LC_[A-Z]+|LANG|LANGUAGE|TZ|NO_COLOR|FORCE_COLOR|CLICOLOR|CLICOLOR_FORCE|COLUMNS|LINES|CI|NODE_ENV|RUST_BACKTRACE|RUST_LOG|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|GIT_TERMINAL_PROMPT|DEBIAN_FRONTEND)$/

/** True for a variable that means something only to the script that sets it. */
export function isFreeVariable(name: string): boolean {
  if (!/^[A-Za-z_]\w*$/.test(name) || OF_THE_SHELL.test(name)) return false
  return HARMLESS.test(name) || !TELLS_PROGRAMS.test(name)
}

/** A path may lead a library to a file of its own: a translation, a time zone, settings for a mode. */
const PLAIN_VALUE = /^[\w.@:,=+-]*$/
const TIME_ZONE = /^[\w+-]+(?:\/[\w+-]+)*$/

/** True when setting the variable only changes how the output of a program looks, or in which mode it runs. */
export function isHarmlessSetting(name: string, value: string): boolean {
  if (HARMLESS.test(name)) return PLAIN_VALUE.test(value) || (name === 'TZ' && TIME_ZONE.test(value))
  return /^(?:[A-Z]+_)?PAGER$/.test(name) && value === 'cat'
}

/** True for a variable of the shell itself, which no command may be given. */
export function isShellVariable(name: string): boolean {
  return OF_THE_SHELL.test(name)
}
