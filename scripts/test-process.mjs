// @ts-check
import hooks from 'node:async_hooks'

// Loaded first in each process of the unit tests. The runner follows every promise back to the test that made it, to name that test when
// nothing catches an error. That takes an eighth of the processor time. Without it such an error fails the whole file, with its stack.
const { createHook } = hooks
hooks.createHook = (callbacks) => {
  const caller = new Error().stack?.split('\n')[2] ?? ''
  const hook = createHook(callbacks)
  return caller.includes('node:internal/test_runner/') ? Object.assign(hook, { enable: () => hook }) : hook
}
