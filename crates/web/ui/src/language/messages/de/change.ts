import { catalogue } from '../../catalogue';
import type change from '../../areas/change';

export default catalogue<typeof change>()({
});
