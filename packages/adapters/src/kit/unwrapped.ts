const WRAPPED = /^(?:\/(?:usr\/)?bin\/)?bash -l?c (['"])/

/** Returns the script of `bash -lc '…'` if the quotes can be removed without parsing it, otherwise the command. */
export function unwrapped(command: string): string {
  const wrapper = WRAPPED.exec(command)
  const quote = wrapper?.[1]
  if (wrapper === null || quote === undefined) return command
  const script = command.slice(wrapper[0].length, -1)
  const isWhole = command.length > wrapper[0].length && command.endsWith(quote) && script.trim() !== ''
  return isWhole && !(quote === "'" ? script.includes("'") : /["\\$`!]/.test(script)) ? script : command
}
