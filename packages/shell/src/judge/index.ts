export { findOutside } from './outside.ts'
export { findTelling, findUnlisted, gitSubcommand } from './listed.ts'
export { isFreeVariable, isHarmlessSetting } from './variables.ts'
