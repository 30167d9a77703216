/** The props of every view. */
export interface ViewProps {
  id: string
  query: URLSearchParams
}
