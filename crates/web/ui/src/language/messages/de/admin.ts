import { catalogue } from '../../catalogue';
import type admin from '../../areas/admin';

export default catalogue<typeof admin>()({
});
