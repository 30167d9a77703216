import { Head } from '../parts.tsx'

export default function OverviewView() {
  return <Head title="Overview" />
}
