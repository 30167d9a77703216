import { Head } from '../parts.tsx'

export default function MoneyView() {
  return <Head title="Money" />
}
