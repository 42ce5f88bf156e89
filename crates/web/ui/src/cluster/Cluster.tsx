import type { JSX } from 'solid-js';
import { ClusterParts } from './ClusterParts';

export default function Cluster(): JSX.Element {
  return (
    <main class="page">
      <h1>Cluster</h1>
      <ClusterParts />
    </main>
  );
}
