import { h, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { decimalText } from '../../src/kit/money.ts'
import { ApiError, call } from '../ui/api.ts'
import { Drawing, Icon } from '../ui/icon.tsx'
import { WAYS } from '../ui/words.ts'
import { hasWallet } from './device-wallets.ts'
import type { SandboxProps } from './sandbox-part.tsx'
import { useWords } from './use-words.ts'

const loadDrawer = () => import('uqr')
/** Not before the order is there: in many browsers an import() that has failed once, as while offline, always fails. */
const loadSandbox = () =>
  import('./sandbox-part.tsx').then(({ sandboxPart }) => ({
    Part: sandboxPart({
      h,
      render,
      useState,
      useEffect,
      useRef,
      call,
      ApiError,
      Icon,
      Drawing,
      WAYS,
      hasWallet,
      decimalText,
      loadDrawer,
    }),
  }))

/** The place of the sandbox's form, which only shops in test mode have. */
export function SandboxForm(props: SandboxProps) {
  const { Part } = useWords(loadSandbox) ?? {}
  return Part ? <Part {...props} /> : <div class="blank" />
}
