import type { Static } from 'typebox'
import type * as schema from '../../src/products/brand/schema.ts'
import { call } from '../ui/api.ts'

export type Brand = Static<typeof schema.Brand>
export type BrandChange = Static<typeof schema.BrandChange>

const PICTURE_PATIENCE_MS = 5 * 60_000

export const getBrand = () => call<Brand>('/api/brand', undefined, {}, { credentials: 'include' })
export const changeBrand = (change: BrandChange) =>
  call<Brand>('/api/brand', change, {}, { credentials: 'include', method: 'PATCH' })
export const putLogo = (file: File) =>
  call<Brand>(
    '/api/brand/logo',
    undefined,
    { 'content-type': file.type },
    { method: 'PUT', credentials: 'include', body: file, signal: AbortSignal.timeout(PICTURE_PATIENCE_MS) },
  )
export const removeLogo = () => call('/api/brand/logo', undefined, {}, { credentials: 'include', method: 'DELETE' })
