import type { ComponentType, h, render } from 'preact'
import type { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError, call, Rail } from '../ui/api.ts'

/** What the page passes in: a script that is loaded later cannot import from the page. */
export interface SandboxTools {
  h: typeof h
  render: typeof render
  useState: typeof useState
  useEffect: typeof useEffect
  useRef: typeof useRef
  call: typeof call
  ApiError: typeof ApiError
  Icon: ComponentType<{ name: 'flask' | 'alert' }>
  Drawing: ComponentType<{ shape: string }>
  WAYS: Record<Rail, string>
  hasWallet: (rail: Rail) => boolean
  decimalText: (amountMinor: number, currency: string) => string
  /** The code that draws a UPI code. */
  loadDrawer: () => Promise<{ renderSVG: (text: string, options: { border: number }) => string }>
}

/** The page's own Preact, which draws the elements of the sandbox's files, and its functions. */
export let page: SandboxTools

export const takeTools = (tools: SandboxTools): void => void (page = tools)
